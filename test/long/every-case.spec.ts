// Every case of the specs that take a sample of them in `npm test`.

import '../api/malformed.spec.ts';
import '../api/tenants.spec.ts';
import '../api/search.spec.ts';
import '../dashboard/hostile-forms.spec.ts';
import '../dashboard/pages.spec.ts';
import '../dashboard/tenants.spec.ts';
import '../egress/corpus.spec.ts';

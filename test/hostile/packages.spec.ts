import { describeFetches } from './matrix/fetch.ts';
import { FEW_ROWS } from './matrix/rows.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describeFetches(FEW_ROWS);

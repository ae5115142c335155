import { describeApi } from './matrix/api.ts';
import { FEW_ROWS } from './matrix/rows.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describeApi(FEW_ROWS);

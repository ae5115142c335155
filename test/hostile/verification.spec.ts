import { FEW_ROWS } from './matrix/rows.ts';
import { describeVerification } from './matrix/verification.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describeVerification(FEW_ROWS);

import { describeCommandLine } from './matrix/command-line.ts';
import { FEW_ROWS } from './matrix/rows.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describeCommandLine(FEW_ROWS);

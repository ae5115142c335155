import { describeAgent } from './matrix/agent.ts';
import { FEW_ROWS } from './matrix/rows.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describeAgent(FEW_ROWS);

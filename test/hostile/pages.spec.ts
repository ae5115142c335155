import { describePage } from './matrix/page.ts';
import { FEW_ROWS } from './matrix/rows.ts';

// All rows at every scale: test/long/hostile-packages.spec.ts.
describePage(FEW_ROWS);

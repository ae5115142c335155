import * as contracts from '../../shared/contracts/monitors.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { addMonitor } from './add-monitor.ts';
import { changeMonitor } from './change-monitor.ts';
import { deleteMonitor, listChanges, listMonitors, listRuns, readMonitor } from './monitors.ts';
import { runMonitor } from './run-monitor.ts';

export const monitorRoutes = [
    serve(contracts.postMonitor, addMonitor),
    serve(contracts.getMonitors, listMonitors),
    serve(contracts.getMonitor, readMonitor),
    serve(contracts.patchMonitor, changeMonitor),
    serve(contracts.postMonitorRun, runMonitor),
    serve(contracts.getMonitorChanges, listChanges),
    serve(contracts.getMonitorRuns, listRuns),
    serve(contracts.deleteMonitor, inTurn(deleteMonitor)),
];

import { postKeyReport } from '../../shared/contracts/key-reports.ts';
import { serve } from '../serve.ts';
import { reportKeys } from './report-keys.ts';

export const keyRoutes = [serve(postKeyReport, reportKeys)];

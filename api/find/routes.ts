import { getEndpoints } from '../../shared/contracts/endpoints.ts';
import { serve } from '../serve.ts';
import { findEndpoints } from './find-endpoints.ts';

export const findRoutes = [serve(getEndpoints, findEndpoints)];

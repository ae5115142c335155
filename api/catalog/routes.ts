import { getCatalog } from '../../shared/contracts/catalog.ts';
import { serve } from '../serve.ts';
import { lookUpCatalog } from './look-up-catalog.ts';

export const catalogRoutes = [serve(getCatalog, lookUpCatalog)];

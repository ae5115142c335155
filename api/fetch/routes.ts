import { postFetch } from '../../shared/contracts/fetch.ts';
import { serve } from '../serve.ts';
import { fetchOnce } from './fetch-once.ts';
import { runFetch } from './run-fetch.ts';

export const fetchRoutes = [serve(postFetch, runFetch, fetchOnce)];

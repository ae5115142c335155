import { getEvents } from '../../shared/contracts/events.ts';
import { serve } from '../serve.ts';
import { listEvents } from './list-events.ts';

export const eventRoutes = [serve(getEvents, listEvents)];

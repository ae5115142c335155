import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { Call } from '../serve.ts';

/** A call of POST /v1/fetch, or of the tool that does the same. */
export type FetchCall = Call<object, object, FetchRequest>;

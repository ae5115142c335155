import { buildPrepareRequest, type Identity, type PreparedForm } from '../shared/domain/build-request.ts';
import type { FetchFailure } from '../shared/domain/fetch.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import type { SiteCall } from './site-call.ts';

/**
 * The first step of an endpoint with `prepare` (CONTRACT 3.1): the GET of its page, whose cookies the call keeps, and the form in it
 * where one is asked for. It is a read, whatever the endpoint does: nothing is marked, and it may be tried again.
 */
export async function prepareCall(
    call: SiteCall,
    reader: Reader,
    { prepare, method }: Endpoint,
    identity: Identity,
    turn: ReadingTurn,
): Promise<{ ok: true; form?: PreparedForm } | FetchFailure> {
    if (prepare === undefined) return { ok: true };
    const answer = await call.send(buildPrepareRequest(prepare.url, identity), { effect: 'read' });
    if (!answer.ok || prepare.form === undefined) return answer.ok ? { ok: true } : answer;
    return reader.readForm(answer.page, { selector: prepare.form, method }, turn);
}

import { buildPrepareRequest, type Identity } from '../shared/domain/fetch/build-request.ts';
import type { FetchFailure } from '../shared/domain/fetch/call.ts';
import type { PreparedForm } from '../shared/domain/fetch/prepared-form.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import type { SiteCall } from './site-call.ts';

/**
 * The first step of an endpoint with `prepare` (docs/api.md, "Schema packages"): a GET of its page, whose cookies the call keeps, and the page's form if
 * `prepare` names one. It is always a read: it sets no sent mark and may be retried.
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

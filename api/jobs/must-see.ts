import { EFFECTS, missingScope } from '../../shared/domain/accounts/scopes.ts';
import type { StoredAnswer } from '../../shared/domain/fetch/stored-answer.ts';
import { readerOf } from '../../shared/fetch/present-job.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Reader } from '../../shared/store/jobs/jobs.ts';

type Find = (reader: Reader, id: string) => Promise<object | undefined>;

/** Checks that a key may see what a stored answer shows. Names the first part of its scopes that hides it. @throws Refusal FORBIDDEN */
export async function mustSee(caller: Caller, { headers }: StoredAnswer, find: Find): Promise<void> {
    const id = headers['location']?.split('/').at(-1) ?? '';
    const reader = readerOf(caller);
    if ((await find(reader, id)) !== undefined) return;
    const all = { effects: EFFECTS, sites: null, endpoints: null, connections: null };
    const sees = async (scopes: Reader['scopes']) => (await find({ ...reader, scopes }, id)) !== undefined;
    if (!(await sees(all)))
        throw new Refusal(
            'FORBIDDEN',
            'The stored answer is about a call with a connection of another member. Only their keys may see it.',
        );
    const { effects, sites, endpoints } = reader.scopes;
    if (!(await sees({ ...all, effects }))) throw missingScope({ part: 'effects', needs: 'write' });
    if (!(await sees({ ...all, sites }))) throw missingScope({ part: 'sites', needs: 'each site that it calls' });
    if (!(await sees({ ...all, endpoints }))) throw missingScope({ part: 'endpoints', needs: 'each endpoint that it calls' });
    throw missingScope({ part: 'connections', needs: 'each connection that it uses' });
}

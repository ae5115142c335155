import type { App } from '../../shared/app.ts';
import { isDoubtful } from '../../shared/domain/site/stated-effect.ts';
import type { Effect } from '../../shared/domain/types.ts';
import type { Found } from '../../shared/fetch/admit.ts';
import { isBelievedToRead } from '../../shared/store/registry/ownership.ts';

/** The effect that a key needs to see a job: a POST that nobody vouched for is seen by keys that may write. */
export async function effectToSee(app: App, found: Found): Promise<Effect> {
    const { endpoint } = found;
    return isDoubtful(endpoint) && !(await isBelievedToRead(app.db, found, endpoint.name)) ? 'write' : endpoint.effect;
}

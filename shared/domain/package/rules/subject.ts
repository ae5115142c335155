import type { BodyFormat, Effect } from '../../types.ts';
import type { Budget } from './budget.ts';
import type { EndpointDraft, ParamDraft } from './drafts.ts';
import type { Path, Report } from './report.ts';
import type { UrlContext } from './urls.ts';
import type { Slot } from './values.ts';

/** The endpoint being checked: its draft, its path, and facts that several rules need. */
export interface Subject {
    draft: EndpointDraft;
    at: Path;
    report: Report;
    urls: UrlContext;
    budget: Budget;
    /** The params that could be read, each with its index. */
    params: readonly { draft: ParamDraft; at: Path }[];
    /** The validator of each param by name; built by the rule for params, used by the rule for examples. */
    slots: Map<string, Slot>;
    /** `undefined` where the method could not be read. */
    effect: Effect | undefined;
    bodyFormat: BodyFormat;
    /** Whether anything stands in a body: body params or a template. */
    sendsBody: boolean;
}

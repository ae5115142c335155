import type { BodyFormat, Effect } from '../../types.ts';
import type { Budget } from './budget.ts';
import type { Path, Report } from './report.ts';
import type { EndpointDraft, ParamDraft } from './structure.ts';
import type { UrlContext } from './urls.ts';
import type { Slot } from './values.ts';

/** The endpoint being checked: its draft, its path, and facts that several rules need. */
export interface Subject {
    draft: EndpointDraft;
    at: Path;
    report: Report;
    urls: UrlContext;
    budget: Budget;
    params: readonly { draft: ParamDraft; at: Path }[];
    /** What each param accepts, by name. The rule for params fills this map; the rule for examples reads it. */
    slots: Map<string, Slot>;
    /** `undefined` if the method could not be read. */
    effect: Effect | undefined;
    bodyFormat: BodyFormat;
    /** Whether the request has a body: body params or a template. */
    sendsBody: boolean;
}

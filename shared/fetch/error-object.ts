import { defined } from '../domain/defined.ts';
import { type ErrorBody, type ItemDetail, type Refusal, refusalEntry } from '../refusals.ts';

export function errorObject(refusal: Refusal, requestId: string, publicUrl: string): ErrorBody {
    const { status, fault } = refusalEntry(refusal.code);
    const { extras } = refusal;
    const { details = [], didYouMean = [] } = extras;
    return defined<ErrorBody>({
        code: refusal.code,
        message: refusal.message,
        status,
        fault,
        retryable: refusal.isRetryable,
        retry_after: extras.retryAfter,
        request_id: requestId,
        doc_url: `${publicUrl}/docs/errors#${refusal.code}`,
        details: details.length === 0 ? undefined : boundDetails(refusal, details),
        problems: extras.problems,
        upgrade_to: extras.upgradeTo,
        upgrade_url: extras.upgradeUrl,
        connect_url: extras.connectUrl,
        obtain_url: extras.obtainUrl,
        upstream: extras.upstream,
        did_you_mean: didYouMean.length === 0 ? undefined : didYouMean,
    });
}

/** Maximum number of problems in one answer. The last entry gives the number of omitted problems. */
export const MAX_DETAILS = 100;

/** The rules of packages have a limit of their own. Batches report the total number of problems. */
function boundDetails({ code, extras }: Refusal, details: readonly ItemDetail[]): readonly ItemDetail[] {
    const more = details.length - MAX_DETAILS;
    if (more <= 0 || code === 'SCHEMA_INVALID' || extras.problems !== undefined) return details;
    return [...details.slice(0, MAX_DETAILS), { path: '', code: 'TOO_COMPLEX', message: `And ${more} more problems that are not listed.` }];
}

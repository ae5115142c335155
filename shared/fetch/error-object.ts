import { defined } from '../domain/defined.ts';
import { type ErrorBody, type ItemDetail, type Refusal, refusalEntry } from '../refusals.ts';

export function errorObject(refusal: Refusal, requestId: string, publicUrl: string): ErrorBody {
    const { status, fault, retryable } = refusalEntry(refusal.code);
    const {
        details,
        problems,
        retryAfter,
        upgradeTo,
        upgradeUrl,
        connectUrl,
        obtainUrl,
        upstream,
        didYouMean,
        retryable: override,
    } = refusal.extras;
    return defined<ErrorBody>({
        code: refusal.code,
        message: refusal.message,
        status,
        fault,
        retryable: override ?? retryable === true,
        retry_after: retryAfter,
        request_id: requestId,
        doc_url: `${publicUrl}/docs/errors#${refusal.code}`,
        details: details === undefined || details.length === 0 ? undefined : boundDetails(refusal, details),
        problems,
        upgrade_to: upgradeTo,
        upgrade_url: upgradeTo === undefined ? undefined : upgradeUrl,
        connect_url: connectUrl,
        obtain_url: obtainUrl,
        upstream,
        did_you_mean: didYouMean === undefined || didYouMean.length === 0 ? undefined : didYouMean,
    });
}

/** Maximum number of problems in one answer. The last entry gives the number of omitted problems. */
const MAX_DETAILS = 100;

/** The rules of packages have a limit of their own. Batches report the total number of problems. */
function boundDetails({ code, extras }: Refusal, details: readonly ItemDetail[]): readonly ItemDetail[] {
    const more = details.length - MAX_DETAILS;
    if (more <= 0 || code === 'SCHEMA_INVALID' || extras.problems !== undefined) return details;
    return [...details.slice(0, MAX_DETAILS), { path: '', code: 'TOO_COMPLEX', message: `And ${more} more problems that are not listed.` }];
}

import type { KeyFinding, KeyReport, KeyReportEntry } from '../../shared/contracts/key-reports.ts';
import { keyHash, type SecretKind, secretKind } from '../../shared/domain/accounts/api-key.ts';
import { KEY_REPORTS } from '../../shared/domain/accounts/plans.ts';
import { revokeReported } from '../../shared/store/accounts/api-keys.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { takeFrom } from '../admission/count-call.ts';
import type { OpenCall, Reply } from '../call.ts';

/** Kinds of secrets that still give access. */
const REPORTED: ReadonlySet<SecretKind | undefined> = new Set(['key', 'access', 'refresh']);

type ReportCall = OpenCall<object, object, KeyReport>;

/** POST /v1/keys/report: revokes the keys in one transaction. Keys with a wrong checksum cost no query. */
export async function reportKeys(call: ReportCall): Promise<Reply<KeyReportEntry[]>> {
    const { app, body } = call;
    await countReport(call);
    const findings: readonly KeyFinding[] = Array.isArray(body) ? body : body.keys.map((token) => ({ token }));
    const hashes = findings.filter(({ token }) => REPORTED.has(secretKind(token))).map(({ token }) => keyHash(token));
    const known = hashes.length === 0 ? new Set<string>() : await revokeReported(app, hashes, app.publicUrl());
    return {
        answer: findings.map(({ token, type }) => {
            const hash = keyHash(token).toString('base64');
            return {
                token_hash: hash,
                ...(type === undefined ? {} : { token_type: type }),
                label: known.has(hash) ? 'true_positive' : 'false_positive',
            };
        }),
    };
}

function countReport({ app, clientAddress }: ReportCall): Promise<void> {
    const identity = `key-reports:ip:${limitIdentity(clientAddress)}`;
    const message = `The limit of ${KEY_REPORTS.limit} reports a minute from one address is used up.`;
    return takeFrom({ app, caller: undefined }, { name: 'key_reports', identity, window: KEY_REPORTS, message });
}

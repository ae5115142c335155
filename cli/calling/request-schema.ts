import { defined } from '../../shared/domain/defined.ts';
import type { RequestOrder } from '../client/index.ts';
import { wrongUsage } from '../failures.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

interface RequestOptions {
    task?: string;
    readOrWrite?: NonNullable<RequestOrder['read_or_write']>;
    authShape?: NonNullable<RequestOrder['auth_shape']>;
    outputShape?: string;
    failureMode?: string;
    category?: string;
    sourceUrl?: string;
    frequency?: NonNullable<RequestOrder['frequency']>;
    contact?: string;
}

/** `routebook request DOMAIN --task …` requests a schema; `routebook request srq_…` shows the state of a request. */
export async function requestSchema(session: Session, subject: string, options: RequestOptions): Promise<Done> {
    const { client, terminal } = session;
    const { paint } = terminal;
    if (subject.startsWith('srq_')) {
        const request = await client().requests.get(subject);
        const { domain, status, demand, fulfilled_by: by, history } = request;
        return {
            result: request,
            lines: [
                `${paint('bold', domain)}: ${status}${by === null ? '' : ` by ${by.site} version ${by.version}`}, requested by ${demand}`,
                ...history.map(({ status: step, at }) => paint('dim', `  ${at}  ${step}`)),
            ],
        };
    }
    if (options.task === undefined)
        throw wrongUsage('--task is required: describe the workflow that is brittle today in 20 to 4000 characters');
    const created = await client().requests.create(orderOf(subject, options.task, options));
    return {
        result: created,
        lines: [
            `${paint('green', '✓')} a schema of ${paint('bold', created.domain)} is requested; open requests for it: ${created.demand}`,
            paint('dim', `  ${PROGRAM} request ${created.request_id}   shows its state`),
        ],
    };
}

function orderOf(domain: string, task: string, options: RequestOptions): RequestOrder {
    const { readOrWrite, authShape, outputShape, failureMode, category, sourceUrl, frequency, contact } = options;
    return defined({
        domain,
        task,
        read_or_write: readOrWrite,
        auth_shape: authShape,
        output_shape: outputShape,
        failure_mode: failureMode,
        intent_category: category,
        source_url: sourceUrl,
        frequency,
        requester_contact: contact,
    });
}

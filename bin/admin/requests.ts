import { type Command, Option } from 'commander';
import { REQUEST_STATUSES, type RequestStatus } from '../../shared/domain/site/schema-request.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { fields, idOf, type Run, type Work } from './command.ts';
import { AdminFault, audited } from './operator.ts';

/** `request set`. */
export function addRequestCommands(program: Command, run: Run): void {
    program
        .command('request')
        .description('requests for schemas')
        .command('set')
        .description('move a request on: open, in_progress, then fulfilled or declined')
        .argument('<request>', 'srq_…', idOf('srq'))
        .addOption(new Option('--status <status>').choices(REQUEST_STATUSES).makeOptionMandatory())
        .action((id: string, { status }: { status: RequestStatus }) => run(set(id, status)));
}

function set(id: string, status: RequestStatus): Work {
    return async (operator) => {
        const result = await audited(operator, { command: 'request set' }, async (trx) => {
            const moved = await schemaRequests.move(trx, id, status);
            if (moved.outcome === 'absent') throw new AdminFault('REQUEST_NOT_FOUND', `There is no schema request ${id}.`);
            if (moved.outcome === 'refused')
                throw new AdminFault('VALIDATION_ERROR', `${id} is ${moved.before}, and a request only moves forward.`);
            return { target: id, before: { status: moved.before }, after: { status }, result: { request_id: id, status } };
        });
        return { result, lines: fields(result) };
    };
}

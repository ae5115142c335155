import type { Movement } from '../../../shared/store/statement-report.ts';

/** Why credits moved, in words; ids of accounts in notes are nobody's business. */
export function reasonOf({ kind, note, availableDelta, heldDelta }: Movement): string {
    switch (kind) {
        case 'grant':
            return note?.startsWith('limit') ? 'Allowance raised within the month' : 'Allowance of the month';
        case 'expire':
            if (note?.startsWith('limit')) return 'Allowance lowered within the month';
            return note?.includes('not renewed') ? 'Rest of an allowance that was not renewed' : 'Rest of the month’s allowance ended';
        case 'hold':
            return 'Put aside for a call';
        case 'charge':
            return `Charged ${-(availableDelta + heldDelta)}`;
        case 'release':
            return 'Given back: not billed';
        case 'lapse':
            return 'Came back after its month had ended';
        case 'first_fetch':
            return 'Bonus for the first call';
        case 'referral':
            return 'Bonus for an invitation';
        case 'contribution':
            return `Bonus for the schema of ${note ?? 'a site'}`;
        case 'move':
            return availableDelta < 0 ? 'Bonus moved on with a change of plan' : 'Bonus came along with a change of plan';
        default:
            return 'Bonus';
    }
}

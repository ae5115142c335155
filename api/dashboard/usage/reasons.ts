import { counted } from '../../../shared/domain/text/counted.ts';
import type { Movement } from '../../../shared/store/usage/statement-report.ts';

/** Describes why credits moved. Leaves out account ids in notes, since they are internal. */
export function reasonOf({ kind, note, items, availableDelta, heldDelta }: Movement): string {
    const forItems = items === null ? '' : ` for ${counted(items, 'item')} of a batch`;
    switch (kind) {
        case 'grant':
            return note?.startsWith('limit') ? 'Allowance raised' : 'Monthly allowance';
        case 'expire':
            if (note?.startsWith('limit')) return 'Allowance lowered';
            return note?.includes('not renewed') ? 'Unused allowance expired: plan not renewed' : 'Unused allowance expired';
        case 'hold':
            return `Held${forItems || ' for a call'}`;
        case 'charge':
            return `Charged ${-(availableDelta + heldDelta)}${forItems}`;
        case 'release':
            return `Given back${forItems}: not billed`;
        case 'lapse':
            return 'Released after its billing period ended';
        case 'first_fetch':
            return 'Bonus for the first call';
        case 'referral':
            return 'Bonus for an invitation';
        case 'contribution':
            return `Bonus for the schema of ${note ?? 'a site'}`;
        case 'reclaim':
            return `Bonus for the schema of ${note ?? 'a site'} reversed: site blocked`;
        case 'move':
            return availableDelta < 0 ? 'Bonus moved out with a plan change' : 'Bonus moved in with a plan change';
        default:
            return 'Bonus';
    }
}

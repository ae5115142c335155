import { counted } from '../../shared/domain/counted.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { ReachedCap } from '../../shared/store/credits.ts';

/** 403: there are credits, and a cap that the account set itself. @param needed credits of one unit */
export function spendingLimit({ of, cap, spent, resetsAt }: ReachedCap, needed: number): Refusal {
    const whose = of === 'key' ? 'This key' : 'This account';
    const words = `${whose} may spend ${counted(cap, 'credit')} a day and has spent ${spent}; this call needs at least ${needed}.`;
    return new Refusal('SPENDING_LIMIT', `${words} The cap resets at ${resetsAt.toISOString()}.`);
}

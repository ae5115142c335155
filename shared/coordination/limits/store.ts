import type { Lease, LimitWindow, StoreAnswer, TakeOrder } from './types.ts';

/** A store of counters. Every method throws the error of its client. */
export interface LimitStore {
    take(order: TakeOrder): Promise<StoreAnswer>;
    end(lease: Pick<Lease, 'operation' | 'account' | 'site'>): Promise<void>;
    peek(identity: string, windows: readonly LimitWindow[], account: string): Promise<{ answer: StoreAnswer; inFlight: number }>;
    close(): Promise<void>;
}

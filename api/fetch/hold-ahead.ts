import type { LeftOver } from '../../shared/precedents.ts';
import type { HoldVerdict } from '../../shared/store/credits.ts';
import type { Admitted } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';
import { orderHold } from './order-hold.ts';

/** Credits that were asked for beside the count of a call, not after it. */
export interface HoldAhead {
    /**
     * What is held is the call's from now on; undefined where nothing is, and may be asked for again.
     * @throws as `Credits.hold`
     */
    take(): Promise<(HoldVerdict & { ok: true }) | undefined>;
    /** Unless they were taken; resolves once it is done, or is left to the sweep. */
    giveBack(): Promise<void>;
}

/**
 * Begins the hold of a call that most likely goes through: one like it just did, with much to spare. That takes one way to another process
 * out of its time (decision 14). Not where a kept result may make a hold needless, or where a cap stands close by.
 */
export function holdAhead(call: FetchCall, admitted: Admitted, deadlineAt: number): HoldAhead | undefined {
    const { app, body, caller, operation } = call;
    const isPlain = body.dry_run !== true && (body.max_age ?? 0) === 0 && caller?.isCapped !== true;
    if (!isPlain || !app.precedents.take(likenessOf(call, admitted))) return undefined;
    const held = app.credits.hold(orderHold(call, admitted, { deadlineAt, isChecked: true }));
    // Whoever takes it, or gives it back, learns that it failed.
    held.catch(() => undefined);
    let isTaken = false;
    let given: Promise<void> | undefined;
    return {
        async take() {
            isTaken = true;
            const hold = await held;
            return hold.ok ? hold : undefined;
        },
        giveBack() {
            given ??= isTaken ? Promise.resolve() : giveBack();
            return given;
        },
    };

    async function giveBack(): Promise<void> {
        try {
            if ((await held).ok) await app.credits.release({ operation });
        } catch (error) {
            app.log.error({ part: 'credits', operation, err: error }, 'a hold could not be released; the sweep will do it');
        }
    }
}

/** The call went through: the next one like it may hold ahead. */
export function setPrecedent(call: FetchCall, admitted: Admitted, left: LeftOver): void {
    call.app.precedents.set(likenessOf(call, admitted), left);
}

function likenessOf({ caller }: FetchCall, { found }: Admitted): string {
    return `${caller?.accountId} ${found.versionId} ${found.endpoint.name}`;
}

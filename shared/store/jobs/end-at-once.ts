import { newTimedId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import { codeOfError } from '../../platform/error-code.ts';
import { compose, runComposed } from '../../platform/prepared-query.ts';
import { BONUSES } from '../credits/bonuses.ts';
import { namedBySizes, TIMEOUT_MS } from './plans-by-size.ts';
import type { AttemptEnd, EndedAttempt, EndingAttempt, HoldEnd } from './write-ends.ts';

/** The SQLSTATE of `undo_if` (migrations/100_common_functions.ts). */
const UNDONE_BY_ITSELF = '09000';

/** The ends that one statement can write. The others depend on the state of the batch or on a mark. */
type SimpleEnd = AttemptEnd & { status: 'succeeded' | 'failed' };

/**
 * Ends items of one batch in one statement: those that succeeded, and reads that failed for good, as long as their holds have not expired
 * and the batch goes on. The account's row is locked until the commit. A busy worker is slow between the steps of a transaction, so steps
 * would make other calls of the account wait.
 * @returns undefined for an attempt that did not end: `endAttempts` finds out why, and ends it in steps
 */
export async function endAtOnce(db: Db, attempts: readonly EndingAttempt[]): Promise<EndedAttempt[]> {
    const ends = new Map<string, Ending>();
    for (const attempt of attempts) {
        const end = await attempt.decide({ won: true, marked: false, charged: attempt.charge ?? 0, available: 0 });
        if (end.status === 'succeeded' || end.status === 'failed') ends.set(attempt.operation, { attempt, end });
    }
    const rows = await writeAtOnce(db, [...ends.values()]);
    const holds = new Map(rows.map(({ operation, ...hold }) => [operation, { won: true, ...hold }]));
    return attempts.map(({ operation }) => {
        const [ending, hold] = [ends.get(operation), holds.get(operation)];
        return ending && hold && { end: ending.end, hold };
    });
}

interface Ending {
    attempt: EndingAttempt;
    end: SimpleEnd;
}

type EndedHold = Pick<HoldEnd, 'marked' | 'charged' | 'available'> & { operation: string };

/** Returns nothing if the statement would close or pause the batch, which also records an event: the steps do that. */
async function writeAtOnce(db: Db, ending: readonly Ending[]): Promise<readonly EndedHold[]> {
    if (ending.length === 0) return [];
    const bodies = ending.map(({ end }) => (end.status === 'succeeded' ? end.result : end.error));
    const values = {
        batch: ending[0]?.attempt.batchId ?? null,
        ids: ending.map(({ attempt }) => attempt.jobId),
        operations: ending.map(({ attempt }) => attempt.operation),
        charges: ending.map(({ attempt }) => attempt.charge),
        movements: ending.map(() => newTimedId('op', Date.now())),
        statuses: ending.map(({ end }) => end.status),
        codes: ending.map(({ end }) => (end.status === 'failed' ? end.code : null)),
        bodies: Buffer.concat(bodies),
        lengths: bodies.map(({ length }) => length),
        questions: ending.map(({ end }) => (end.status === 'succeeded' ? end.question : null)),
        ...{ first: BONUSES.firstFetch, referral: BONUSES.referral, monthly: BONUSES.referralsAMonth },
    };
    try {
        return await runComposed<EndedHold>(db, namedBySizes(END), values, TIMEOUT_MS);
    } catch (error) {
        if (codeOfError(error) === UNDONE_BY_ITSELF) return [];
        throw error;
    }
}

/** Locks items, holds with the account, then the batch, as always. An array of results would be sent as hexadecimal text. */
const END = compose(
    `with given as (
        select n.*, cast(sum(n.length) over (order by n.place) as integer) - n.length + 1 as start
        from unnest(:ids, :operations, :charges, :movements, :statuses, :codes, :lengths, :questions)
            with ordinality as n (job_id, operation, charge, movement, status, code, length, question, place)
    ), ending as materialized (
        select n.*, j.held, coalesce(j.hold_operation, j.operation) as hold
        from jobs j join given n on n.job_id = j.job_id and n.operation = j.operation
        where j.status = 'running' and (n.status = 'succeeded' or j.effect = 'read')
        order by j.job_id for update of j
    ), settlements as (
        -- Null, a release, if no item is charged.
        select hold, cast(sum(least(charge, held)) filter (where charge is not null) as bigint) as charge, cast(sum(held) as bigint) as part,
               min(movement) as movement
        from ending group by hold
    ), moved as materialized (
        select m.*
        from (select array_agg(hold order by hold) as holds, array_agg(charge order by hold) as charges, array_agg(part order by hold) as parts,
                     array_agg(movement order by hold) as movements
              from settlements) s
        cross join lateral credits_move(s.holds, s.charges, :first, :referral, :monthly, s_part => s.parts, s_movement => s.movements) m
        where s.holds is not null
    ), ended as materialized (
        select e.*, row_number() over (order by e.place) as end_place, least(coalesce(e.charge, 0), e.held) as charged, m.marked, m.available
        from ending e join moved m on m.operation = e.hold and m.won
    ), reserved as (
        update batches b
        set ends = b.ends + c.items
        from (select count(*) as items, count(*) filter (where status = 'failed') as failed from ended) c
        where b.batch_id = :batch and c.items > 0
        returning b.ends - c.items as before,
                  -- The trigger of jobs has not counted these ends yet.
                  undo_if(b.queued + b.running <= c.items
                          or b.status = 'running' and c.failed > 0 and b.failures + c.failed >= b.stop_after_failures) as goes_on
    ), written as (
        update jobs j
        set status = e.status, waiting_for = null, finished_at = app_now(), end_number = r.before + e.end_place,
            operation = null, lease_until = null, hold_operation = null, held = 0, was_sent = j.was_sent or j.effect = 'write' and e.marked,
            code = e.code, error = case when e.status = 'failed' then substring(:bodies from e.start for e.length) end,
            result = case when e.status = 'succeeded' then substring(:bodies from e.start for e.length) else j.result end,
            question = coalesce(e.question, j.question),
            credits_used = case when e.status = 'succeeded' then e.charged else j.credits_used end,
            remaining = case when e.status = 'succeeded' then e.available else j.remaining end
        from ended e left join reserved r on true
        where j.job_id = e.job_id
        returning e.operation
    )
    select e.operation, e.marked, e.charged, e.available from ended e join written w on w.operation = e.operation`,
    {
        ...{ ids: 'text[]', operations: 'text[]', charges: 'bigint[]', movements: 'text[]', statuses: 'text[]', codes: 'text[]' },
        ...{ bodies: 'bytea', lengths: 'integer[]', questions: 'text[]', first: 'integer', referral: 'integer', monthly: 'integer' },
    },
);

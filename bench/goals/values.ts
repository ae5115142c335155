import { type BenchResults, repetitionsOf } from '../results.ts';
import type { GoalRow } from './row.ts';

/** The values of a figure of a scenario. Two figures are combined repetition by repetition, since the repetitions of a round alternate. */
export const of = (scenario: string, figure: string) => (results: BenchResults) => repetitionsOf(results, scenario, figure);
export type Values = GoalRow['values'];
export const join = (one: Values, other: Values, how: (a: number, b: number) => number): Values => {
    return (results) => {
        const others = other(results);
        return one(results).map((value, place) => how(value, others[place] ?? Number.NaN));
    };
};
export const ratio = (one: Values, other: Values) => join(one, other, (a, b) => a / b);
export const difference = (one: Values, other: Values) => join(one, other, (a, b) => a - b);

/** Absolute goals count where bare got takes at most this much CPU per call. Elsewhere times and rates are scaled to such a machine. */
export const GOT_US = 210;
/** @param got the CPU of bare got in the same round, µs per call */
export const timeAtGot = (time: Values, got: Values) => join(time, got, (ms, us) => ms * Math.min(1, GOT_US / us));
export const rateAtGot = (rate: Values, got: Values) => join(rate, got, (perSecond, us) => perSecond * Math.max(1, us / GOT_US));

/** The p99 of a good site during a disturbance, relative to its p99 right before. */
export const againstIdle = (scenario: string) => ratio(of(scenario, 'p99_ms'), of(scenario, 'alone_p99_ms'));

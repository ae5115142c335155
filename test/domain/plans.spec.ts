import { expect } from 'chai';
import { ANONYMOUS, figuresFor, PLANS, planAbove, windowsOf } from '../../shared/domain/accounts/plans.ts';

describe('the plans', () => {
    it('cost and allow what the price list says', () => {
        expect(PLANS.free).to.deep.equal({
            priceUsd: 0,
            allowance: 1000,
            perMinute: 20,
            perHour: 1000,
            perDay: 1000,
            concurrency: 5,
            monitors: 3,
        });
        expect(PLANS.starter).to.deep.equal({
            priceUsd: 49,
            allowance: 15_000,
            perMinute: 60,
            perHour: 3000,
            perDay: 15_000,
            concurrency: 20,
            monitors: 25,
        });
        expect(PLANS.pro).to.deep.equal({
            priceUsd: 149,
            allowance: 60_000,
            perMinute: 100,
            perHour: 5000,
            perDay: 60_000,
            concurrency: 50,
            monitors: 250,
        });
        expect(ANONYMOUS).to.deep.equal({ name: 'hour', limit: 5, seconds: 3600 });
    });

    it('lead to the next plan, and from enterprise to contacting sales', () => {
        expect(planAbove('free')).to.equal('starter');
        expect(planAbove('starter')).to.equal('pro');
        expect(planAbove('pro')).to.equal('enterprise');
        expect(planAbove('enterprise')).to.equal('enterprise');
    });

    it('are overridden by an operator’s settings, one by one, zero included', () => {
        expect(figuresFor('free', { perMinute: 7, allowance: 0, perHour: null, concurrency: undefined })).to.deep.equal({
            perMinute: 7,
            perHour: 1000,
            perDay: 1000,
            allowance: 0,
            concurrency: 5,
            monitors: 3,
        });
    });

    it('let enterprise start from the limits of Pro', () => {
        expect(figuresFor('enterprise')).to.deep.equal(figuresFor('pro'));
        expect(figuresFor('enterprise', { perDay: 1_000_000 }).perDay).to.equal(1_000_000);
    });

    it('limit calls by the minute, the hour and the day', () => {
        expect(windowsOf(figuresFor('starter'))).to.deep.equal([
            { name: 'minute', limit: 60, seconds: 60 },
            { name: 'hour', limit: 3000, seconds: 3600 },
            { name: 'day', limit: 15_000, seconds: 86_400 },
        ]);
    });
});

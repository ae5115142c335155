import { expect } from 'chai';
import { limitHeaders } from '../../shared/coordination/limits/headers.ts';
import type { WindowState } from '../../shared/coordination/limits/types.ts';

const minute: WindowState = { name: 'minute', limit: 20, seconds: 60, remaining: 19, resetsIn: 31 };
const hour: WindowState = { name: 'hour', limit: 1000, seconds: 3600, remaining: 12, resetsIn: 1800 };

describe('the rate limit headers', () => {
    it('show every window as a structured field, and the tightest with the older headers', () => {
        expect(limitHeaders([minute, hour])).to.deep.equal({
            'RateLimit-Policy': '"minute";q=20;w=60, "hour";q=1000;w=3600',
            RateLimit: '"minute";r=19;t=31, "hour";r=12;t=1800',
            'X-RateLimit-Limit': '1000',
            'X-RateLimit-Remaining': '12',
            'X-RateLimit-Reset': '1800',
        });
    });

    it('show of two equally tight windows the one that resets last', () => {
        expect(
            limitHeaders([
                { ...hour, remaining: 0 },
                { ...minute, remaining: 0 },
            ])['X-RateLimit-Reset'],
        ).to.equal('1800');
    });

    it('are absent if no window applies', () => {
        expect(limitHeaders([])).to.deep.equal({});
    });
});

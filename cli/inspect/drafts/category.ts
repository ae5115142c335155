import { CATEGORIES } from '../../../shared/domain/package/taxonomy.ts';
import { wordsOf } from '../words/harmless.ts';
import { singular } from '../words/segments.ts';

/** Words that suggest a category, in addition to the words of its name. */
const HINTS: Readonly<Record<string, string>> = {
    'commerce/product-search': 'shop store product catalog item sku cart brand',
    'commerce/product-detail': 'product variant',
    'commerce/reviews': 'review rating',
    'commerce/pricing': 'price cost quote',
    'travel/flights': 'flight airline airport departure arrival',
    'travel/hotels': 'hotel room guest checkin checkout stay',
    'travel/routes': 'route transit station train bus stop journey',
    'jobs/job-search': 'job vacancy career position hiring',
    'social/posts': 'post tweet status feed follower',
    'social/comments': 'comment reply',
    'social/profiles': 'profile follower bio',
    'media/articles': 'article news story headline',
    'media/video': 'video movie film episode channel show',
    'media/audio': 'track album artist song podcast playlist recording',
    'media/images': 'image photo picture gallery',
    'reference/encyclopedia': 'encyclopedia',
    'reference/dictionary': 'word definition synonym dictionary',
    'reference/geo': 'place city country geocode latitude longitude map address postcode',
    'reference/papers': 'paper doi citation journal arxiv',
    'reference/statistics': 'indicator statistic dataset metric series',
    'food/recipes': 'recipe ingredient meal',
    'food/restaurants': 'restaurant menu dish',
    'finance/rates': 'rate currency exchange',
    'finance/quotes': 'stock ticker quote symbol',
    'finance/crypto': 'coin crypto block transaction wallet token blockchain',
    'real-estate/listings': 'property rent apartment house mortgage',
    'communication/messaging': 'message chat channel conversation notification',
    'communication/mail': 'mail mailbox inbox email',
    'communication/forums': 'thread topic forum board',
    'productivity/tasks': 'task todo board card workflow',
    'productivity/documents': 'document file folder space page note',
    'productivity/calendars': 'calendar meeting appointment',
    'knowledge/questions': 'question answer',
    'knowledge/books': 'book author isbn edition',
    'knowledge/wikis': 'wiki revision',
    'developer/packages': 'package registry version tarball npm module dependency tag',
    'developer/repositories': 'repository commit branch checkin timeline diff pull release',
    'developer/issues': 'issue ticket bug tkt',
    'developer/status': 'status health target alert uptime rule buildinfo runtimeinfo flag config',
    'developer/docs': 'api endpoint documentation database project',
    'sports/scores': 'score match game',
    'sports/schedules': 'fixture league team',
    'government/records': 'record patent trademark permit',
    'government/open-data': 'dataset',
    'health/drugs': 'drug medicine',
    'health/conditions': 'condition symptom patient',
    'education/courses': 'course lesson student',
    'events/search': 'event venue ticket concert',
    'weather/forecast': 'weather forecast temperature wind rain',
    'automotive/listings': 'car vehicle vin',
};

const SAYS_LITTLE: ReadonlySet<string> = new Set([
    'search',
    'detail',
    'listing',
    'open',
    'data',
    'doc',
    'service',
    'form',
    'call',
    'agent',
    'alert',
    'history',
    'current',
    'post',
    'record',
]);

const FALLBACK = 'developer/docs';

/** The category that most words suggest; `isGuess` if hardly any word suggests it. Words are literals of routes, field names and hosts. */
export function guessCategory(texts: readonly string[]): { category: string; isGuess: boolean } {
    const counts = new Map<string, number>();
    for (const text of texts) for (const word of wordsOf(text)) counts.set(singular(word), (counts.get(singular(word)) ?? 0) + 1);
    let best = { category: FALLBACK, score: 0 };
    for (const { children } of CATEGORIES) {
        for (const { path, slug } of children) {
            const words = new Set([
                ...(HINTS[path]?.split(' ') ?? []),
                ...slug
                    .split('-')
                    .map(singular)
                    .filter((word) => !SAYS_LITTLE.has(word)),
            ]);
            let score = 0;
            for (const word of words) score += Math.min(5, counts.get(word) ?? 0);
            if (score > best.score) best = { category: path, score };
        }
    }
    return best.score < 2 ? { category: FALLBACK, isGuess: true } : { category: best.category, isGuess: best.score < 4 };
}

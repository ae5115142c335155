import { didYouMean } from '../text/suggestions.ts';

/** A top-level category of the intent taxonomy, as `GET /v1/categories` shows it. */
interface Category {
    slug: string;
    name: string;
    children: readonly { slug: string; name: string /** `parent/child`: what a package declares. */; path: string }[];
}

/** The tree of docs/api.md, "Categories". Slugs may only be added, because packages and bookmarks refer to them. */
const TREE: Readonly<Record<string, string>> = {
    commerce: 'product-detail product-search reviews pricing deals',
    travel: 'flights hotels listings routes activities',
    jobs: 'job-search job-detail companies salaries',
    social: 'profiles posts search comments',
    media: 'articles video audio images feeds',
    reference: 'encyclopedia dictionary geo papers statistics',
    food: 'recipes restaurants menus delivery nutrition',
    finance: 'quotes rates crypto companies filings',
    'real-estate': 'listings detail prices agents',
    communication: 'mail messaging forums calls',
    productivity: 'tasks documents calendars forms',
    knowledge: 'questions courses books wikis',
    developer: 'packages repositories issues docs status',
    sports: 'scores schedules standings players',
    government: 'records laws services open-data elections',
    health: 'providers conditions drugs trials',
    education: 'schools courses grades scholarships',
    events: 'search detail tickets venues',
    weather: 'current forecast history alerts',
    automotive: 'listings specs parts charging',
};

/** All categories, parents and children in the order of the contract. */
export const CATEGORIES: readonly Category[] = Object.entries(TREE).map(([slug, children]) => ({
    slug,
    name: titleCase(slug),
    children: children.split(' ').map((child) => ({ slug: child, name: titleCase(child), path: `${slug}/${child}` })),
}));

/** Allowed categories: each parent, followed by its children. */
export const CATEGORY_PATHS: readonly string[] = CATEGORIES.flatMap(({ slug, children }) => [slug, ...children.map(({ path }) => path)]);

const PATHS: ReadonlySet<string> = new Set(CATEGORY_PATHS);

/** Whether a package may declare `path`: `parent` or `parent/child`, spelled exactly as in `GET /v1/categories`. */
export function isCategory(path: string): boolean {
    return PATHS.has(path);
}

/** Categories that may have been meant: of a known parent its children, otherwise those with such a child or such a name. */
export function nearCategories(path: string): string[] {
    const [parent = '', child] = path.split('/');
    const known = CATEGORIES.find(({ slug }) => slug === parent);
    if (known === undefined || child === undefined) {
        const named = CATEGORIES.flatMap(({ children }) => children).filter(({ slug }) => slug === (child ?? parent));
        return [...new Set([...named.map((one) => one.path), ...didYouMean(path, CATEGORY_PATHS)])].slice(0, 3);
    }
    const slugs = known.children.map(({ slug }) => slug);
    const near = didYouMean(child, slugs);
    return (near.length === 0 ? slugs : near).map((slug) => `${parent}/${slug}`);
}

function titleCase(slug: string): string {
    return slug
        .split('-')
        .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
        .join(' ');
}

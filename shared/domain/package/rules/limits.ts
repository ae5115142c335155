import { MAX_HEADER_TEXT } from '../../fetch/param-place.ts';
import { MAX_PACKAGE_NODES, MAX_PARAM_NODES } from '../../json/schema/count-nodes.ts';
import { MAX_DEPTH, MAX_NODES } from '../../json/schema/measure.ts';
import { MAX_PATTERN, MAX_PATTERNS } from '../../json/schema/patterns.ts';
import { MAX_CHOICES } from '../../json/schema/structure.ts';
import {
    MAX_COMPILED,
    MAX_EXPRESSION_CHARACTERS,
    MAX_EXPRESSION_LENGTH,
    MAX_EXPRESSIONS,
    MAX_EXTRACTS,
    MAX_HEADER_NAME,
    MAX_HEADERS,
    MAX_OUTPUTS,
    MAX_SELECT_NESTING,
} from './bounds.ts';
import { MAX_DESCRIPTION, MAX_ENDPOINTS, MAX_EXAMPLES, MAX_PARAMS, MAX_STEPS, MAX_TITLE, MAX_URL } from './structure.ts';
import { MAX_LEVELS, MAX_VALUES } from './tree.ts';
import { MAX_PAIRS, MAX_PLACEHOLDERS } from './urls.ts';

/** The limits of the package format in words, for authors of packages. They are generated from the constants that the rules use. */
export const LIMITS_IN_WORDS = [
    `A package has at most ${formatCount(MAX_ENDPOINTS)} endpoints, ${formatCount(MAX_PARAMS)} params, ${formatCount(MAX_VALUES)} values, ${formatCount(MAX_LEVELS)} levels of nesting and ${formatCount(MAX_EXPRESSIONS)} expressions in selects, paginations and steps of prepare, of ${formatCount(MAX_EXPRESSION_LENGTH)} characters each and ${formatCount(MAX_EXPRESSION_CHARACTERS)} together.`,
    `A title has at most ${formatCount(MAX_TITLE)} characters, a description ${formatCount(MAX_DESCRIPTION)}, a URL ${formatCount(MAX_URL)}, with ${formatCount(MAX_PLACEHOLDERS)} placeholders and ${formatCount(MAX_PAIRS)} pairs in its query.`,
    `An endpoint has at most ${formatCount(MAX_EXAMPLES)} examples, ${formatCount(MAX_HEADERS)} headers (names of ${formatCount(MAX_HEADER_NAME)} characters, values of ${formatCount(MAX_HEADER_TEXT)}), and ${formatCount(MAX_COMPILED)} params whose schemas hold more than types, enums, bounds, patterns and plain items. It prepares in at most ${formatCount(MAX_STEPS)} steps, which extract ${formatCount(MAX_EXTRACTS)} values each. A map in select has at most ${formatCount(MAX_OUTPUTS)} outputs; maps nest ${formatCount(MAX_SELECT_NESTING)} levels.`,
    `A JSON Schema is at most ${formatCount(MAX_DEPTH)} deep and has ${formatCount(MAX_NODES)} schemas once its references are put in place, ${formatCount(MAX_CHOICES)} values in an enum and ${formatCount(MAX_PATTERN)} characters in a pattern; the schemas of all params of an endpoint together ${formatCount(MAX_PARAM_NODES)}, of a package ${formatCount(MAX_PACKAGE_NODES)}; a package has ${formatCount(MAX_PATTERNS)} different patterns.`,
].join(' ');

function formatCount(count: number): string {
    return count.toLocaleString('en');
}

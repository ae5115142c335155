import { readFeed } from './feed.ts';
import { parseHtml } from './html.ts';
import { type ParseBody, parsedShape } from './parse-page.ts';
import { parseXml } from './xml.ts';

/** Parses the types that the processes for markup read: HTML, XML and feeds. @throws InvalidResponse */
export const parseMarkup: ParseBody = (text, page, rules) => {
    if (page.type === 'xml') return parseXml(text, page, rules);
    if (page.type !== 'feed') return parseHtml(text, page, rules);
    return parsedShape(readFeed(text, page.url));
};

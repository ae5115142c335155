import { type Inliner, inlinerFor } from '../json/schema/inline.ts';
import type { Endpoint, PackageDocument } from '../types.ts';
import { readEndpoint } from './endpoint.ts';
import { schemaOfParams } from './param-schema.ts';
import { createNames, type Names, pascal } from './python-export/names.ts';
import { docstring, literal } from './python-export/text.ts';
import { createTypes, type PythonTypes } from './python-export/types.ts';
import type { SourceFile } from './typescript-export.ts';

/** The hosted endpoints as Python functions that fetch this version through `routebook` and return dataclasses. */
export function exportPython(document: PackageDocument, { version, versionHash }: { version: number; versionHash: string }): SourceFile {
    const { site, title } = document;
    const endpoints = document.endpoints.map(readEndpoint).filter(({ hosted }) => hosted);
    const names = createNames(IMPORTED);
    const types = createTypes(names);
    const inliner = inlinerFor(document);
    const functions = endpoints.map((endpoint) => functionOf(endpoint, { site, names, types, inliner }));
    const lines = [
        ...docstring(
            `${title} (${site}), version ${version}.\n\nRoutebook generated this file from the published package: do not edit it.`,
            0,
        ),
        '',
        'from __future__ import annotations',
        '',
        'from dataclasses import dataclass, field',
        'from typing import Any, Dict, List, Literal, Mapping, Optional, Union',
        '',
        'from routebook import Routebook',
        'from routebook.typed import Result, call as _call',
        '',
        '# The version that the functions call.',
        `VERSION = ${literal(versionHash)}`,
        '',
        ...types.classes(),
        ...functions,
    ];
    const file = `${site.replaceAll(/[^a-z0-9]+/g, '_')}.py`;
    return { file: /^\d/.test(file) ? `site_${file}` : file, source: `${lines.join('\n').trimEnd()}\n` };
}

const IMPORTED = ['VERSION', 'Any', 'Dict', 'List', 'Literal', 'Mapping', 'Optional', 'Result', 'Routebook', 'Union', 'dataclass', 'field'];

function functionOf(
    endpoint: Endpoint,
    { site, names, types, inliner }: { site: string; names: Names; types: PythonTypes; inliner: Inliner },
): string {
    const { params, bodyFormat, response, effect, description } = endpoint;
    const name = names.take(endpoint.name);
    const result =
        response.schema === undefined ? 'Dict[str, Any]' : types.of(inliner.inline(response.schema), `${pascal(endpoint.name)}Result`);
    const arguments_ = createNames([...IMPORTED, '_call', 'routebook', 'order']);
    const { properties = {} } = schemaOfParams(params, bodyFormat, inliner) as { properties?: Record<string, never> };
    const given = params.map((param) => ({
        param,
        argument: arguments_.take(param.name),
        type: types.of(properties[param.name], `${pascal(endpoint.name)}${pascal(param.name)}`, 'Mapping'),
    }));
    const [needed, others] = [given.filter(({ param }) => param.required), given.filter(({ param }) => !param.required)];
    const signature = [
        ...needed.map(({ argument, type }) => `    ${argument}: ${type},`),
        ...others.map(({ argument, type }) => `    ${argument}: Optional[${type}] = None,`),
        '    order: Optional[Mapping[str, Any]] = None,',
    ];
    const notes = [
        description,
        effect === 'write' ? `Writes: it changes something on ${site}.` : '',
        given
            .filter(({ param }) => param.description !== '')
            .map(({ argument, param }) => `:param ${argument}: ${param.description.replaceAll(/\s+/g, ' ')}`)
            .join('\n'),
    ].filter((note) => note !== '');
    return [
        '',
        `def ${name}(`,
        '    routebook: Routebook,',
        '    *,',
        ...signature,
        `) -> Result[${result}]:`,
        ...docstring(notes.join('\n\n'), 4),
        '    return _call(',
        `        routebook, ${literal(site)}, ${literal(endpoint.name)}, VERSION,`,
        '        {',
        ...given.map(({ param, argument }) => `            ${literal(param.name)}: ${argument},`),
        '        },',
        `        order, ${result},`,
        '    )',
        '',
    ].join('\n');
}

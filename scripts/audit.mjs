// Fails where a dependency of production has a known vulnerability of severity high or critical. A registry without audits is no failure.
// Usage: node scripts/audit.mjs
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8', timeout: 120_000 });
const report = read(stdout);
const vulnerabilities = report?.metadata?.vulnerabilities;
if (vulnerabilities === undefined) {
    console.log('audit: the registry does not answer audits; nothing was checked');
} else {
    const grave = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => severity === 'high' || severity === 'critical');
    for (const { name, severity } of grave) console.error(`audit: ${name} has a vulnerability of severity ${severity}`);
    console.log(`audit: ${grave.length} of severity high or critical`);
    process.exitCode = grave.length > 0 ? 1 : 0;
}

/** What npm prints where the registry does not answer is another object, or nothing. */
function read(text) {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

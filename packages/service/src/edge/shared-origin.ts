import lists from './shared-origin.json' with { type: 'json' }

/**
 * Content-Security-Policy for untrusted content on a shared origin: the content never acts as a page of this origin.
 * Scripts run only with `scripts`, in an opaque origin without access to cookies, storage and answers of this one.
 */
export function strangersPolicy(scripts: boolean): string {
  return scripts
    ? 'sandbox allow-scripts allow-forms allow-popups allow-downloads'
    : `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox`
}

/** Headers that affect a whole origin, its connections or its visitors; functions may not set them. */
const OF_THE_ORIGIN: ReadonlySet<string> = new Set(Object.values(lists.headers).flat())

/** Link relations without side effects. Others make a browser open connections, load resources or store something. */
const PLAIN_RELATIONS: ReadonlySet<string> = new Set(lists.plainRelations)

/** True for a header that untrusted code may not set on a shared origin; without a value, one that may be harmful. */
export function isOfTheOrigin(name: string, value = ''): boolean {
  const lower = name.toLowerCase()
  if (lower === 'link') return !isPlainLink(value)
  if (lower === 'www-authenticate') return !asksForToken(value)
  return OF_THE_ORIGIN.has(lower)
}

function isPlainLink(value: string): boolean {
  const targets = value.split('<').length - 1
  const relations = [...value.matchAll(/;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/gi)]
  const names = relations.flatMap(([, quoted, bare = '']) => (quoted ?? bare).toLowerCase().trim().split(/\s+/))
  return relations.length === targets && names.length > 0 && names.every((name) => PLAIN_RELATIONS.has(name))
}

/** Whether a challenge asks for a token; for others a browser asks for a password and keeps it for the origin. */
function asksForToken(value: string): boolean {
  return /^(?:bearer|dpop)\b/i.test(value) && !/\b(?:basic|digest|hoba|mutual|negotiate|ntlm|scram)\b/i.test(value)
}

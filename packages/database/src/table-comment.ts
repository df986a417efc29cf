/** Facts in the comment of a table or function. */
interface Comment {
  readonly description: string | null
  readonly attribution: string | null
  /** The members of a comment that is a JSON object; null for other comments. */
  readonly given: Readonly<Record<string, unknown>> | null
}

/** Reads a comment: a JSON object with `description` or `attribution` has these, and any other comment is the description. */
export function readComment(comment: string | null): Comment {
  const given = objectIn(comment)
  const [described, attribution] = [textOr(given?.['description']), textOr(given?.['attribution'])]
  return { description: described ?? (attribution === null ? comment : null), attribution, given }
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function objectIn(comment: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(comment ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

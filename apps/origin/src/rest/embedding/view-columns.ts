/** A column of a view and the column that its query takes it from. */
export interface ViewColumn {
  /** Numbers of columns, from 1 on. */
  readonly column: number
  readonly sourceColumn: number
  /** Object id of the table or view. */
  readonly source: string
}

/** Columns of a view that are columns of others, from its rule (`pg_rewrite.ev_action`), which notes their origins. */
export function viewColumns(rule: string): ViewColumn[] {
  return targetEntries(rule).flatMap((entry) => {
    const number = (field: string) => new RegExp(` :${field} (\\d+)`).exec(entry)?.[1]
    const source = number('resorigtbl')
    if (source === undefined || source === '0' || entry.includes(':resjunk true')) return []
    return [{ column: Number(number('resno')), sourceColumn: Number(number('resorigcol')), source }]
  })
}

/** Texts of the target entries of the outermost query, without the nodes that they hold. */
function targetEntries(rule: string): string[] {
  const entries: string[] = []
  let depth = 0
  let text = ''
  for (let i = 0; i < rule.length; i++) {
    const c = rule[i] as string
    // A name may have braces; they are escaped.
    if (c === '\\') i++
    else if (c === '{') {
      depth++
      if (depth === 2) text = ''
    } else if (c === '}') {
      if (depth === 2 && text.startsWith('TARGETENTRY')) entries.push(text)
      depth--
    } else if (depth === 2) text += c
  }
  return entries
}

/** Letters whose folded case is several (Unicode's CaseFolding.txt, status F), as far as languages of today write them. */
const FOLDED_TO_SEVERAL = [
  ['ß', 'ss'],
  ['ŉ', 'ʼn'],
  ['ǰ', 'ǰ'],
  ['և', 'եւ'],
  ['ﬀ', 'ff'],
  ['ﬁ', 'fi'],
  ['ﬂ', 'fl'],
  ['ﬃ', 'ffi'],
  ['ﬄ', 'ffl'],
  ['ﬅ', 'st'],
  ['ﬆ', 'st'],
] as const

/** SQL of the functions of texts by name: equal texts but for case (CASEI) or accents (ACCENTI) become the same. */
export const FOLDS: Readonly<Record<string, (sql: string) => string>> = { casei: caseSql, accenti: accentSql }

/** A text in the folded case of Unicode, with letters that `lower` keeps although they are forms of others. */
function caseSql(sql: string): string {
  const single = `translate(lower(${sql}), 'ſςϐϑϕϖϰϱϵẛι', 'sσβθφπκρεṡι')`
  return FOLDED_TO_SEVERAL.reduce((text, [letter, letters]) => `replace(${text}, '${letter}', '${letters}')`, single)
}

/** A text without diacritics; letters with a stroke become plain letters. */
function accentSql(sql: string): string {
  const bare = `regexp_replace(normalize(${sql}, nfd), '[\\u0300-\\u036f]', '', 'g')`
  return `translate(${bare}, 'øØłŁđĐħĦŧŦı', 'oOlLdDhHtTi')`
}

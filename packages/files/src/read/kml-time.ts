const TIME = /^(-?\d{4})(?:-(\d\d)(?:-(\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?)?$/

/** A time of KML (XML Schema's gYear, gYearMonth, date or dateTime) as an instant; null for other text. */
export function isoInstant(text: string): { readonly instant: string | null; readonly isWhole: boolean } {
  const found = TIME.exec(text)
  if (!found) return { instant: null, isWhole: true }
  const [, year, month = '01', day = '01', time] = found
  return { instant: `${year}-${month}-${day}${time ?? ''}`, isWhole: time !== undefined }
}

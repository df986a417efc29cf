import { zip } from './zip-writer.ts'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types'
const KIND = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** A number with a format of its own. */
export interface FormattedCell {
  readonly value: number
  readonly format: string
}

/** An XLSX of one sheet, as openpyxl writes it. */
export function workbook(rows: readonly (readonly (string | number | FormattedCell)[])[]): Buffer {
  const formats = [...new Set(rows.flat().flatMap((cell) => (typeof cell === 'object' ? [cell.format] : [])))]
  const cells = rows.map(
    (row, y) => `<row r="${y + 1}">${row.map((cell, x) => cellOf(cell, x, y, formats)).join('')}</row>`,
  )
  const parts: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${KIND}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${KIND}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${KIND}.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Sheet" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${formats.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code.replaceAll('"', '&quot;')}" />`).join('')}</numFmts><cellXfs><xf numFmtId="0"/>${formats.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${MAIN}"><sheetData>${cells.join('')}</sheetData></worksheet>`,
  }
  return zip(Object.entries(parts).map(([name, text]) => ({ name, data: Buffer.from(text) })))
}

function cellOf(cell: string | number | FormattedCell, x: number, y: number, formats: readonly string[]): string {
  const at = `r="${String.fromCharCode(65 + x)}${y + 1}"`
  if (typeof cell === 'string') return `<c ${at} t="inlineStr"><is><t>${cell}</t></is></c>`
  if (typeof cell === 'number') return `<c ${at} t="n"><v>${cell}</v></c>`
  return `<c ${at} s="${formats.indexOf(cell.format) + 1}" t="n"><v>${cell.value}</v></c>`
}

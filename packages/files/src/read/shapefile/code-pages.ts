/**
 * Characters 128 to 255 of DOS code pages, which the runtime does not support (Unicode's mappings of Microsoft's vendor
 * tables).
 */
const DOS: Readonly<Record<string, string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp737:
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  cp855:
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
  cp857:
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0',
  cp860:
    'ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp861:
    'ÇüéâäàåçêëèÐðÞÄÅÉæÆôöþûÝýÖÜø£Ø₧ƒáíóúÁÍÓÚ¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp863:
    'ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp865:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
}

/** Numbers of code pages that have another name. */
const NUMBERED: Readonly<Record<string, string>> = {
  '866': 'ibm866',
  '874': 'windows-874',
  '932': 'shift_jis',
  '936': 'gbk',
  '949': 'euc-kr',
  '950': 'big5',
  '65001': 'utf-8',
}

/** Code pages by the byte of a dBASE head that names the language driver. */
const LANGUAGE_DRIVERS: ReadonlyMap<number, string> = new Map(
  Object.entries({
    437: [1, 9, 11, 13, 15, 17, 21, 24, 25, 27],
    737: [106, 134],
    850: [2, 10, 14, 16, 18, 20, 22, 26, 29, 37, 55],
    852: [31, 34, 35, 64, 100, 135],
    857: [107, 136],
    860: [36],
    861: [103],
    863: [28, 108],
    865: [8, 23, 102],
    866: [38, 101],
    874: [80, 124],
    932: [19, 123],
    936: [77, 122],
    949: [78, 121],
    950: [79, 120],
    1250: [200],
    1251: [201],
    1252: [3, 88, 89],
    1253: [203],
    1254: [202],
    1257: [204],
  }).flatMap(([page, drivers]) => drivers.map((driver): [number, string] => [driver, page])),
)
/** "ANSI", which is the code page of the program that wrote the table. */
const ANSI_DRIVER = 0x57

/**
 * Name of an encoding in a request or a `.cpg` file: `UTF-8`, `1252`, `ANSI 1251`, `cp850`, `88591`; null for an
 * unknown one.
 */
export function encodingOfName(said: string): string | null {
  const name = said.trim().toLowerCase()
  const page = /^(?:windows|ansi|cp|ibm|oem|dos|ms)?[-_ ]?(\d{3,5})$/.exec(name)?.[1]
  const part = /^(?:iso)?[-_ ]?8859[-_ ]?(\d{1,2})$/.exec(name)?.[1]
  if (part !== undefined) return known(`iso-8859-${part}`)
  return page === undefined ? known(name) : encodingOfPage(page)
}

/** Encoding of a dBASE table by the language driver in its header; null for an unknown one. */
export function encodingOfDriver(driver: number): string | null {
  if (driver === ANSI_DRIVER) return 'iso-8859-1'
  const page = LANGUAGE_DRIVERS.get(driver)
  return page === undefined ? null : encodingOfPage(page)
}

/**
 * Decodes texts of an encoding.
 *
 * @param encoding a name that a function above returned
 * @throws TypeError for bytes that it does not define
 */
export function decoderFor(encoding: string): (bytes: Uint8Array) => string {
  const upper = DOS[encoding]
  if (upper === undefined) {
    const decoder = new TextDecoder(encoding, { fatal: true })
    return (bytes) => decoder.decode(bytes)
  }
  return (bytes) => {
    const text = Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : upper[byte - 128]!)).join('')
    if (text.includes('\ufffd')) throw new TypeError(`bytes that ${encoding} does not define`)
    return text
  }
}

function encodingOfPage(page: string): string | null {
  return known(NUMBERED[page] ?? (`cp${page}` in DOS ? `cp${page}` : `windows-${page}`))
}

/** The name if it is known. Latin-1 keeps its name, because the runtime reads it as Windows-1252. */
function known(name: string): string | null {
  if (name in DOS) return name
  if (name === 'iso-8859-1' || name === 'latin1') return 'iso-8859-1'
  try {
    return new TextDecoder(name).encoding
  } catch {
    return null
  }
}

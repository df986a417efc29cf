import { seededRandom } from '@terrane/core'

/**
 * A program of about the given size that resembles a bundle of packages: many small functions and tables in modules. A
 * tenth of the functions run at the start. The handler answers `hello`.
 */
export function largeSource(bytes: number): string {
  const random = seededRandom(7)
  const word = () => 'k' + Math.floor(random() * 2 ** 30).toString(36)
  const parts: string[] = []
  for (let size = 0, i = 0; size < bytes; i++) {
    const fields = Array.from(
      { length: 6 },
      () => `${word()}_: { id: ${i}, name: '${word()}', tags: ['${word()}', '${word()}'] }`,
    )
    const part = `
var init_${i} = () => { const table = { ${fields.join(', ')} }
  function walk(node, depth) { if (depth > 3) return node; return Object.keys(node).map((key) => walk(node[key], depth + 1)) }
  class Item_${i} { constructor(value) { this.value = value } get size() { return String(this.value).length } toString() { return '${word()}' + this.size } }
  return { table, count: () => walk(table, 0).length, item: (value) => new Item_${i}(value) } }
${i % 10 === 0 ? `var module_${i} = init_${i}()` : `globalThis.modules_ ??= []; globalThis.modules_[${i}] = init_${i}`}
`
    parts.push(part)
    size += part.length
  }
  return `${parts.join('')}\nexport default () => new Response('hello')\n`
}

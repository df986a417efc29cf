import { expect, test } from 'vitest'
import { keepNamesOnTop } from './names-on-top.ts'

type MapPart = Parameters<typeof keepNamesOnTop>[0]

/** A map with named layers that reports each change of its style. */
function fakeMap(layers: { id: string; type: string }[]) {
  const listeners = new Set<() => void>()
  const change = (next: typeof layers) => {
    layers.splice(0, layers.length, ...next)
    for (const listener of listeners) listener()
  }
  const map = {
    getLayersOrder: () => layers.map(({ id }) => id),
    getLayer: (id: string) => layers.find((layer) => layer.id === id),
    moveLayer: (id: string) =>
      change([...layers.filter((layer) => layer.id !== id), ...layers.filter((layer) => layer.id === id)]),
    on: (_: string, listener: () => void) => void listeners.add(listener),
    off: (_: string, listener: () => void) => void listeners.delete(listener),
  }
  const add = (id: string, type: string) => change([...layers, { id, type }])
  return { map: map as unknown as MapPart, add, order: map.getLayersOrder }
}

test('names of a basemap stay above data that is drawn later, in their own order', () => {
  const { map, add, order } = fakeMap([
    { id: 'base:land', type: 'fill' },
    { id: 'base:towns', type: 'symbol' },
    { id: 'base:countries', type: 'symbol' },
  ])
  const stop = keepNamesOnTop(map)
  add('live:streets', 'line')
  add('live:names', 'symbol')
  expect(order()).toEqual(['base:land', 'live:streets', 'live:names', 'base:towns', 'base:countries'])
  stop()
  add('live:areas', 'fill')
  expect(order().at(-1)).toBe('live:areas')
})

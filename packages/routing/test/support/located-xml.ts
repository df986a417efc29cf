import type { OsmElement } from '@terrane/osm'

/** OSM XML as osmium writes it with locations on ways: nodes without tags are left out, each `nd` says where it is. */
export function locatedXml(elements: readonly OsmElement[]): string {
  const places = new Map<number, string>()
  for (const element of elements) {
    if (element.type === 'node') places.set(element.id, `lon="${element.lon}" lat="${element.lat}"`)
  }
  const lines = elements.map((element) => {
    const { type, id } = element
    const tags = Object.entries(element.tags ?? {}).map(
      ([key, value]) => `<tag k="${quote(key)}" v="${quote(value)}"/>`,
    )
    if (type === 'node') return tags.length > 0 ? `<node id="${id}" ${places.get(id)}>${tags.join('')}</node>` : ''
    const parts =
      type === 'way'
        ? element.refs.map((ref) => `<nd ref="${ref}" ${places.get(ref)}/>`)
        : element.members.map((member) => `<member type="${member.type}" ref="${member.ref}" role="${member.role}"/>`)
    return `<${type} id="${id}">${parts.join('')}${tags.join('')}</${type}>`
  })
  return `<osm version="0.6">${lines.join('\n')}</osm>`
}

function quote(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

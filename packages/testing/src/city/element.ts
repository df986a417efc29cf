export type CityTags = Readonly<Record<string, string>>

/** An element of the town, in the form of the osm package's writer; this package cannot import that one. */
export type CityElement =
  | { readonly type: 'node'; readonly id: number; readonly lon: number; readonly lat: number; readonly tags: CityTags }
  | { readonly type: 'way'; readonly id: number; readonly refs: readonly number[]; readonly tags: CityTags }
  | { readonly type: 'relation'; readonly id: number; readonly members: readonly CityMember[]; readonly tags: CityTags }

export interface CityMember {
  readonly type: CityElement['type']
  readonly ref: number
  readonly role: string
}

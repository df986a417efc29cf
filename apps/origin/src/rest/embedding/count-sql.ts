import { quoteIdentifier } from '@terrane/database'
import { conditionList, type Embed, type Resource } from '@terrane/database/rest-query'
import { embedded, type ReadContext, type Source } from './sources.ts'

/** The statement that counts the rows of a resource, without its page. */
export function countSql(resource: Resource, source: Source, context: ReadContext): string {
  return `select count(*) ${matching(resource, source, context)}`
}

/** `from … where …` of the rows of a resource, with `exists` for what embedded resources say of them. */
function matching(resource: Resource, source: Source, context: ReadContext): string {
  const alias = quoteIdentifier(source.alias)
  const exists = (embed: Embed) => `exists (select ${matching(embed, embedded(embed, source, context).child, context)})`
  const hasRows = (name: string) => {
    const embed = resource.embeds.find((e) => (e.alias ?? e.target) === name)
    return embed ? exists(embed) : null
  }
  const conditions = [
    ...source.joins,
    ...conditionList(resource.conditions, alias, context.parameters, hasRows),
    ...resource.embeds.filter((embed) => embed.isInner).map(exists),
  ]
  return `from ${source.from} as ${alias}${source.junction}${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`}`
}

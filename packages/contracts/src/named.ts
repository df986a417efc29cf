import { Type, type Static, type TSchema } from 'typebox'

/** A schema that is defined once in the OpenAPI components and used elsewhere through {@link ref}. */
export type Named<S extends TSchema = TSchema> = S & { readonly $id: string }

/** Gives a schema the name under which the OpenAPI document shows it. */
export function named<S extends TSchema>(name: string, schema: S): Named<S> {
  return { ...schema, $id: name }
}

/** Refers to a {@link named} schema, because a document may contain an `$id` only once. The app must register it. */
export function ref<S extends TSchema>(schema: Named<S>) {
  return Type.Unsafe<Static<S>>({ $ref: `${schema.$id}#` })
}

/** `T` or null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

// SPDX-License-Identifier: Apache-2.0
// Growable arrays. Their memory comes from an arena, or with a NULL arena from the heap:
// then vec_free frees it.
//
//     typedef Vec(uint32_t) U32Vec;
//     U32Vec v = {0};
//     vec_push(arena, &v, 7);
//     for (size_t i = 0; i < v.len; i++) use(v.at[i]);

#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#define Vec(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t len;                                                                                \
        size_t cap;                                                                                \
    }

typedef Vec(uint8_t) U8Vec;
typedef Vec(uint32_t) U32Vec;
typedef Vec(uint64_t) U64Vec;
typedef Vec(int64_t) I64Vec;
typedef Vec(double) DoubleVec;
typedef Vec(Str) StrVec;

// Makes room for `more` elements after the first `len`: at least doubles `*cap` and returns the
// array's new address. Elements after `len` are undefined. For the macros below.
void *vec_make_room(Arena *arena, void *at, size_t len, size_t *cap, size_t more, size_t elem_size,
                    size_t elem_align);

#define vec_reserve(arena, v, more)                                                                \
    do {                                                                                           \
        if ((v)->cap - (v)->len < (size_t)(more))                                                  \
            (v)->at = vec_make_room((arena), (v)->at, (v)->len, &(v)->cap, (more),                 \
                                    sizeof((v)->at[0]), _Alignof(__typeof__((v)->at[0])));         \
    } while (0)

#define vec_push(arena, v, ...)                                                                    \
    do {                                                                                           \
        vec_reserve(arena, v, 1);                                                                  \
        (v)->at[(v)->len++] = (__VA_ARGS__);                                                       \
    } while (0)

// Appends `n` zeroed elements and gives the address of the first of them.
#define vec_extend(arena, v, n)                                                                    \
    ({                                                                                             \
        size_t vec_n_ = (n);                                                                       \
        vec_reserve(arena, v, vec_n_);                                                             \
        if (vec_n_)                                                                                \
            memset((v)->at + (v)->len, 0, vec_n_ * sizeof((v)->at[0]));                            \
        (v)->len += vec_n_;                                                                        \
        vec_n_ ? (v)->at + ((v)->len - vec_n_) : (v)->at;                                          \
    })

#define vec_last(v) ((v)->at[(v)->len - 1])
#define vec_pop(v)  ((v)->at[--(v)->len])

// Only for a vec that grew with a NULL arena.
#define vec_free(v)                                                                                \
    do {                                                                                           \
        heap_free((v)->at);                                                                        \
        (v)->at = NULL;                                                                            \
        (v)->len = (v)->cap = 0;                                                                   \
    } while (0)

// Appends each line of a text, which must live as long.
void str_add_lines(Arena *arena, Str text, StrVec *ret);

#endif // BASE_VEC_H

// SPDX-License-Identifier: Apache-2.0
// The part of XML that coverage reports are written in, tag by tag: elements,
// attributes, text, comments, CDATA, the five named entities and numbers. A
// DOCTYPE is passed over; one with declarations of its own is refused.
// Document: W3C, XML 1.0. docs/decisions/0066 says why it is our own.

#ifndef TRACEFILE_XML_H
#define TRACEFILE_XML_H

#include "base/error.h"
#include "base/vec.h"

enum { XML_DEPTH_MAX = 64, XML_ATTRIBUTES_MAX = 64 };

typedef struct XmlAttribute {
    Str name, value; // the value as it stands, entities included: xml_value decodes
} XmlAttribute;

typedef struct Xml {
    Str text;
    size_t at;
    // The present tag.
    Str name;
    bool is_end; // </name>, or the end of <name/>
    Str content; // text since the tag before, as it stands
    XmlAttribute attributes[XML_ATTRIBUTES_MAX];
    size_t attribute_count;
    Str open[XML_DEPTH_MAX]; // the elements that the place is in
    size_t depth;
    bool is_empty; // <name/>: its end comes next
    bool seen_root;
    const char *bad; // what is wrong at `at`
} Xml;

// A reader at the start of a document, which is borrowed.
static inline Xml xml_over(Str text)
{
    return (Xml){.text = text};
}

// The next start or end of an element. False at the end of the document and when
// something is wrong; xml_check tells which.
bool xml_next(Xml *x);
MUST_CHECK bool xml_check(const Xml *x, Error *err);
// Whether what is wrong is that the document ends too early.
bool xml_is_cut(const Xml *x);

// An attribute of the present tag with its entities decoded; "" when absent.
Str xml_value(const Xml *x, Arena *arena, const char *name);
Str xml_decode(Arena *arena, Str raw);

#endif // TRACEFILE_XML_H

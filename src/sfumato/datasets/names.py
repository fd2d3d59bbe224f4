"""Names of invented people: identifiers, no two rows alike."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.datasets.sampling import Batch, Distribution, Flags

_WOMEN = """
Ada Agnes Alba Amara Anouk Astrid Beatrix Bruna Carla Cecily Clara Dalia Delia Dora Edith Elin Elsa
Esther Farah Flora Freya Gerda Greta Hanna Hazel Hilda Ida Ines Irma Iris Jana Jasmin Joan Judith
Karin Katya Lara Leila Lena Livia Lucia Mabel Maren Marta Mina Mira Nadia Naomi Nora Olga Olive
Petra Priya Rita Rosa Ruth Sara Selma Sofia Stella Tara Thea Tilda Una Vera Wanda Xenia Yara Yuki
Zelda
"""
_MEN = """
Adam Albin Alec Amir Anton Arlo Basil Bruno Caleb Carl Cedric Cyril Dario David Denis Edgar Eli Emil
Enzo Erik Ezra Felix Finn Franz Gavin Georg Goran Hamza Hans Henry Hugo Igor Ivan Jakob Jonas Jorge
Kai Karim Klaus Lars Leon Levi Luca Magnus Marco Milo Moses Nils Noah Oleg Omar Oscar Otto Pablo
Paul Piotr Rafik Ralf Remo Rolf Ruben Samir Silas Simon Sven Tariq Theo Timur Tobias Ugo Viktor
Walter Yusuf Zeno
"""
_FAMILIES = """
Abbot Adler Almeida Amsel Arden Aumann Baker Barros Becker Benali Berg Birch Blum Boyd Brandt Brook
Bruhn Calder Carver Castel Chandra Cole Conti Cooper Costa Crane Dahl Dalton Demir Dietz Doyle
Duarte Eklund Ellery Engel Fabre Falk Farrow Ferro Fischer Fletcher Fontana Forster Frost Gallo
Garner Gerber Glover Grau Greer Gruber Haas Hadley Haddad Halvor Harper Hartley Heron Hofer Holm
Horvat Hughes Iversen Jansen Jarvis Joshi Kaiser Keller Kemp Khan Kirby Klein Kovac Krause Kumar
Lamb Lang Larkin Laurent Lehmann Lind Lopes Lorenz Lund Mahler Marchand Marsh Mason Mehta Mendes
Mercer Meyer Miller Monroe Moreau Moss Nagel Navarro Nemeth Nolan Novak Nyberg Okafor Olsen Orlov
Osman Pacheco Palmer Pavlov Peel Perrin Pohl Porter Quinn Rahman Ramos Reed Reuter Ricci Rivers
Romano Roth Rowan Sadler Saito Salas Santos Sauer Schmid Seidel Sharma Silva Sommer Stark Stein
Stone Svoboda Tanner Taylor Thorne Tiller Turner Ullman Urban Vance Vargas Vidal Vogel Walker Wallin
Weaver Weber Weiss Wells Wenzel Winter Wolf Yilmaz York Zeller Ziegler Zorn
"""


@cache
def _lists() -> tuple[pa.Array, pa.Array, Distribution, Distribution]:
    women, men, families = (text.split() for text in (_WOMEN, _MEN, _FAMILIES))
    given = np.zeros((2, len(men) + len(women)))
    given[0, : len(men)] = 1.0 / (8 + np.arange(len(men)))
    given[1, len(men) :] = 1.0 / (8 + np.arange(len(women)))
    # A few family names are common, most are not.
    family = 1.0 / (5 + np.arange(len(families)))
    return pa.array(men + women), pa.array(families), Distribution(given), Distribution(family)


def full_names(batch: Batch, woman: Flags) -> pa.Array:
    """Return given name, family name and the row's number in the table, as one text a row."""
    givens, families, given, family = _lists()
    number = np.arange(batch.first + 1, batch.first + batch.rows + 1)
    return pc.binary_join_element_wise(
        givens.take(pa.array(given.draw(batch.uniform("given name"), woman.view(np.int8)))),
        families.take(pa.array(family.draw(batch.uniform("family name")))),
        pa.array(number).cast(pa.string()),
        " ",
    )
